import { certificateScenes } from './certificateScenes';
import { groupsScenes } from './groupsScenes';
import { peopleScenes } from './peopleScenes';
import { personScenes } from './personScenes';
import type { Scene } from './Scene';
import { signInScenes } from './signInScenes';

export type { Scene } from './Scene';

/** Every page and state that is known, in the order a person meets them. */
export const scenes: readonly Scene[] = [
  ...signInScenes,
  ...peopleScenes,
  ...personScenes,
  ...groupsScenes,
  ...certificateScenes,
];
