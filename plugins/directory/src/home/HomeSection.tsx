import { Box, Link, Text } from '@backstage/ui';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { readable, Section } from '../page/DirectoryPage';
import { QueryPanel } from '../page/QueryPanel';
import styles from './home.module.css';

/**
 * A section with the data of a query, a heading and a link to the page with all
 * data.
 */
export function HomeSection<Data>(props: {
  title: string;
  href: string;
  linkText: string;
  query: UseQueryResult<Data>;
  skeleton: ReactNode;

  /**
   * Query of the current user, for a section that depends on it. Defaults to
   * none.
   */
  user?: UseQueryResult<string | null>;

  /** Shown to users without a directory user. */
  notMapped?: string;
  children: (data: Data) => ReactNode;
}) {
  const { title, href, linkText, query, skeleton, user, notMapped } = props;
  const content = (
    <QueryPanel query={query} skeleton={skeleton} isSection>
      {props.children}
    </QueryPanel>
  );
  return (
    <div className={readable}>
      <Section
        title={title}
        actions={
          <Link href={href} standalone>
            {linkText}
          </Link>
        }
      >
        {user ? (
          <QueryPanel
            query={user}
            skeleton={skeleton}
            hidesStaleNotice
            isSection
          >
            {username =>
              username === null ? <Note>{notMapped}</Note> : content
            }
          </QueryPanel>
        ) : (
          content
        )}
      </Section>
    </div>
  );
}

/** A sentence instead of a list, with a link to the next step. */
export function Note(props: { children: ReactNode; link?: ReactNode }) {
  return (
    <Box bg="neutral" className={styles.note}>
      <Text as="p">{props.children}</Text>
      {props.link}
    </Box>
  );
}
