import { certificateScenes } from './certificateScenes';
import { groupsScenes } from './groupsScenes';
import { homeScenes } from './homeScenes';
import { paletteScenes } from './paletteScenes';
import { peopleScenes } from './peopleScenes';
import { personScenes } from './personScenes';
import type { Scene } from './Scene';
import { signInScenes } from './signInScenes';

/** All scenes, in the order of a user's visit. */
export const scenes: readonly Scene[] = [
  ...signInScenes,
  ...homeScenes,
  ...peopleScenes,
  ...personScenes,
  ...groupsScenes,
  ...certificateScenes,
  ...paletteScenes,
];
