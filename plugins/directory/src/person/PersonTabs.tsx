import {
  useAppSearchParams,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { Badge, Tab, TabList, TabPanel, Tabs, Text } from '@backstage/ui';
import type { User } from '@directory-gateway/backstage-plugin-directory-common';
import { RiCheckLine, RiQuillPenLine } from '@remixicon/react';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import {
  fetchAllPages,
  isNotFound,
  useCurrentUser,
  useDirectoryQuery,
  useMay,
} from '../api/useDirectoryQuery';
import { CertificatesTab } from '../certificates/CertificatesTab';
import { useCertificates } from '../certificates/userCertificates';
import { DirectoryText, visibleText } from '../components/DirectoryText';
import { History } from '../history/History';
import { useHistory } from '../history/useHistory';
import { QueryPanel, Rows } from '../page/QueryPanel';
import rows from '../page/QueryPanel.module.css';
import { EmptyState } from '../page/states';
import { directoryTranslationRef } from '../translation';
import { GroupsTab, useMemberships } from './GroupsTab';
import { KeysTab } from './KeysTab';
import styles from './PersonTabs.module.css';
import { locale } from '../language';

const TABS = [
  'groups',
  'certificates',
  'keys',
  'agreements',
  'history',
] as const;

/**
 * Tabs for groups, certificates, keys, agreements and the history. The URL
 * contains the selected tab.
 */
export function PersonTabs(props: {
  person: User;

  /** Whether to hide what only the user sees. */
  asOthers: boolean;
}) {
  const { person, asOthers } = props;
  const { username, human_name, sshpubkeys, gpgkeyids } = person;
  const { t } = useTranslationRef(directoryTranslationRef);
  const [params, setParams] = useAppSearchParams();
  const memberships = useMemberships(username);
  const certificates = useCertificates(username);
  const agreements = useAgreements(username);
  const [historyPage, setHistoryPage] = useState(1);
  const mayReadHistory = useMay('directory.history.read');
  const isOwn = useCurrentUser().data === username;
  const history = useHistory({
    kind: 'user',
    name: username,
    page: historyPage,
    enabled: mayReadHistory || isOwn,
  });

  const name = human_name ?? username;
  const counts = {
    groups: memberships.data?.memberships.length,
    certificates: certificates.data?.length,
    keys: (sshpubkeys?.length ?? 0) + (gpgkeyids?.length ?? 0),
    agreements: agreements.data?.length,
    history: history.data?.total,
  };
  const panels: Record<(typeof TABS)[number], ReactNode> = {
    groups: (
      <QueryPanel query={memberships}>
        {data => <GroupsTab name={name} {...data} />}
      </QueryPanel>
    ),
    certificates: <CertificatesTab query={certificates} />,
    keys: <KeysTab person={person} />,
    agreements: <AgreementsTab query={agreements} />,
    history: (
      <History
        kind="user"
        query={history}
        page={historyPage}
        onPage={setHistoryPage}
      />
    ),
  };
  // Keys hidden by a private profile must not appear as "no keys".
  const hidesKeys = person.is_private && !sshpubkeys && !gpgkeyids;
  const hidden: Partial<Record<(typeof TABS)[number], boolean>> = {
    certificates:
      asOthers && person.is_private === true && !person.certificates,
    keys: hidesKeys === true,
    history:
      asOthers || !(mayReadHistory || isOwn) || isNotFound(history.error),
  };
  const tabs = TABS.filter(id => !hidden[id]);
  const tab = tabs.find(id => id === params.get('tab')) ?? 'groups';

  return (
    <Tabs
      className={styles.tabs}
      selectedKey={tab}
      onSelectionChange={key =>
        setParams(key === 'groups' ? {} : { tab: String(key) }, {
          replace: true,
        })
      }
    >
      <div className={styles.list}>
        <TabList
          aria-label={t('person.tabs.label', { name: visibleText(name) })}
        >
          {tabs.map(id => (
            <Tab key={id} id={id}>
              {t(`person.tabs.${id}`)}{' '}
              <span className={styles.count}>
                {counts[id]?.toLocaleString(locale()) ?? ' '}
              </span>
            </Tab>
          ))}
        </TabList>
      </div>
      {tabs.map(id => (
        <TabPanel key={id} id={id} className={styles.panel}>
          {panels[id]}
        </TabPanel>
      ))}
    </Tabs>
  );
}

function AgreementsTab({ query }: { query: UseQueryResult<string[]> }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <QueryPanel query={query}>
      {names =>
        names.length === 0 ? (
          <EmptyState
            icon={<RiQuillPenLine />}
            title={t('person.agreements.none')}
          />
        ) : (
          <Rows>
            {names.map(name => (
              <li key={name} className={rows.row}>
                <Text weight="bold" className={rows.text}>
                  <DirectoryText value={name} />
                </Text>
                <Badge icon={<RiCheckLine />}>
                  {t('person.agreements.signed')}
                </Badge>
              </li>
            ))}
          </Rows>
        )
      }
    </QueryPanel>
  );
}

function useAgreements(username: string) {
  return useDirectoryQuery({
    key: ['agreements', username],
    load: async (client, signal) => {
      const agreements = await fetchAllPages(
        query =>
          client.get('/users/{username}/agreements/', {
            params: { path: { username }, query },
            signal,
          }),
        signal,
      );
      return agreements.map(({ name }) => name);
    },
  });
}
