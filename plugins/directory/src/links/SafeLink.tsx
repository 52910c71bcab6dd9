import { Link, Text } from '@backstage/ui';
import type { ReactNode } from 'react';
import { safeHref } from '../components/safeHref';

/** Options of {@link SafeLink}. */
export interface SafeLinkProps {
  /** The URL, as the directory has it. */
  href: string;

  children: ReactNode;
}

/**
 * A link out of the portal to a URL of the directory, or plain text when the
 * URL is not safe to follow.
 */
export function SafeLink({ href, children }: SafeLinkProps) {
  const safe = safeHref(href);
  if (!safe) {
    return <Text as="span">{children}</Text>;
  }
  const isPage = /^https?:/.test(safe);
  return (
    <Link
      href={safe}
      target={isPage ? '_blank' : undefined}
      rel="noopener noreferrer nofollow"
      standalone
    >
      {children}
    </Link>
  );
}
