import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Tab, TabList, TabPanel, Tabs } from '@backstage/ui';
import type { User } from '@directory-gateway/backstage-plugin-directory-common';
import type { ReactNode } from 'react';
import { useSearchParams } from 'react-router-dom';
import { CertificatesTab } from '../certificates/CertificatesTab';
import { useCertificates } from '../certificates/userCertificates';
import { visibleText } from '../components/DirectoryText';
import { directoryTranslationRef } from '../translation';
import { AgreementsTab } from './agreements/AgreementsTab';
import { useAgreements } from './agreements/useAgreements';
import { useMemberships } from './groups/useMemberships';
import { GroupsTab } from './GroupsTab';
import { KeysTab } from './KeysTab';
import styles from './PersonTabs.module.css';

const TABS = ['groups', 'certificates', 'keys', 'agreements'] as const;

/** What somebody has, in tabs that say how much; the tab is in the URL. */
export function PersonTabs({ person }: { person: User }) {
  const { username, human_name, sshpubkeys, gpgkeyids } = person;
  const { t } = useTranslationRef(directoryTranslationRef);
  const [params, setParams] = useSearchParams();
  const memberships = useMemberships(username);
  const certificates = useCertificates(username);
  const agreements = useAgreements(username);

  const name = human_name ?? username;
  const counts = {
    groups: memberships.data?.memberships.length,
    certificates: certificates.data?.length,
    keys: (sshpubkeys?.length ?? 0) + (gpgkeyids?.length ?? 0),
    agreements: agreements.data?.length,
  };
  const panels: Record<(typeof TABS)[number], ReactNode> = {
    groups: <GroupsTab name={name} query={memberships} />,
    certificates: <CertificatesTab query={certificates} />,
    keys: <KeysTab person={person} />,
    agreements: <AgreementsTab query={agreements} />,
  };
  // Keys that a private profile hides are not "no keys".
  const hidesKeys = person.is_private && !sshpubkeys && !gpgkeyids;
  const tabs = TABS.filter(id => id !== 'keys' || !hidesKeys);
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
                {counts[id]?.toLocaleString() ?? ' '}
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
