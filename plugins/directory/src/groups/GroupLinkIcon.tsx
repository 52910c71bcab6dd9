import {
  RiChat3Line,
  RiDiscussLine,
  RiGlobalLine,
  RiHashtag,
  RiMailLine,
  RiMessage3Line,
} from '@remixicon/react';
import type { ReactElement } from 'react';
import type { GroupLink } from './groupLinks';

const icons: Record<GroupLink['kind'], ReactElement> = {
  url: <RiGlobalLine aria-hidden="true" />,
  mailingList: <RiMailLine aria-hidden="true" />,
  discussion: <RiDiscussLine aria-hidden="true" />,
  irc: <RiHashtag aria-hidden="true" />,
  matrix: <RiMessage3Line aria-hidden="true" />,
  other: <RiChat3Line aria-hidden="true" />,
};

/** The picture of a kind of link; the words belong beside it. */
export function GroupLinkIcon({ kind }: Pick<GroupLink, 'kind'>) {
  return icons[kind];
}
