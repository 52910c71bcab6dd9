import { useRouteRef } from '@backstage/frontend-plugin-api';
import { Link, type LinkProps } from '@backstage/ui';
import { groupRouteRef, personRouteRef } from '../routes';
import { DirectoryText } from './DirectoryText';

/** Link to the page of a group. */
export function GroupLink(
  props: {
    groupname: string;

    /** Search text whose words are highlighted. Defaults to none. */
    mark?: string;
  } & LinkProps,
) {
  const { groupname, mark, ...rest } = props;
  const href = useRouteRef(groupRouteRef);
  return (
    <Link standalone {...rest} href={href?.({ groupname }) ?? ''}>
      <DirectoryText value={groupname} mark={mark} />
    </Link>
  );
}

/** Link to the page of a user. The text defaults to the user name. */
export function PersonLink(props: { username: string } & LinkProps) {
  const { username, children, ...rest } = props;
  const href = useRouteRef(personRouteRef);
  return (
    <Link standalone {...rest} href={href?.({ username }) ?? ''}>
      {children ?? <DirectoryText value={username} />}
    </Link>
  );
}
