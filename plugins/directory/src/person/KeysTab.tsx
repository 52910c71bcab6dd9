import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Badge, Skeleton, Text } from '@backstage/ui';
import type { User } from '@directory-gateway/backstage-plugin-directory-common';
import { RiKey2Line } from '@remixicon/react';
import { useMemo } from 'react';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { CopyButton } from '../components/CopyButton';
import { DirectoryText, visibleText } from '../components/DirectoryText';
import { Rows } from '../page/QueryPanel';
import rows from '../page/QueryPanel.module.css';
import { EmptyState } from '../page/states';
import { directoryTranslationRef } from '../translation';
import styles from './KeysTab.module.css';
import { locale } from '../language';
import {
  readSshKey,
  sshFingerprint,
  type SshKey,
} from '../components/readSshKey';

/** SSH and OpenPGP keys of a user. */
export function KeysTab({ person }: { person: User }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { sshpubkeys, gpgkeyids } = person;
  if (!sshpubkeys?.length && !gpgkeyids?.length) {
    const name = person.human_name ?? person.username;
    return (
      <EmptyState
        icon={<RiKey2Line />}
        title={t('person.keys.none')}
        description={t('person.keys.noneHint', {
          name: <DirectoryText value={name} />,
        })}
      />
    );
  }
  return (
    <>
      {sshpubkeys && sshpubkeys.length > 0 && <SshKeys texts={sshpubkeys} />}
      {gpgkeyids && gpgkeyids.length > 0 && <GpgKeys ids={gpgkeyids} />}
    </>
  );
}

/** SSH keys, with a button that copies all as an authorized_keys file. */
function SshKeys({ texts }: { texts: readonly string[] }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const keys = useMemo(
    () => texts.map(text => ({ text, key: readSshKey(text) })),
    [texts],
  );
  const lines = keys.flatMap(({ key }) => (key ? [`${key.line}\n`] : []));

  return (
    <section className={styles.section}>
      <div className={styles.heading}>
        <Text as="h3" variant="body-medium" weight="bold">
          {t('person.keys.ssh')}
        </Text>
        {lines.length > 1 && (
          <CopyButton
            value={lines.join('')}
            label={t('person.keys.copyAll')}
            isLabeled
          />
        )}
      </div>
      <Rows>
        {keys.map(({ text, key }) =>
          key ? (
            <SshKeyRow key={text} sshKey={key} />
          ) : (
            <li key={text} className={rows.row}>
              <Text color="secondary">{t('person.keys.unreadable')}</Text>
            </li>
          ),
        )}
      </Rows>
    </section>
  );
}

/** An SSH key with its comment, type, size and fingerprint. */
function SshKeyRow({ sshKey }: { sshKey: SshKey }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { type, bits, comment, line } = sshKey;
  const { data: fingerprint } = useFingerprint(sshKey);
  const name = comment || t('person.keys.noComment');

  return (
    <li className={rows.row}>
      <div className={rows.text}>
        <Text as="p" weight="bold">
          <DirectoryText value={name} />
        </Text>
        <span className={styles.fingerprint}>
          {fingerprint === undefined && <Skeleton width="28ch" height={16} />}
          {fingerprint === null && t('person.keys.noFingerprint')}
          {fingerprint && <code>{fingerprint}</code>}
        </span>
      </div>
      <div className={rows.badges}>
        <Badge>
          <DirectoryText value={type.replace(/^ssh-|@openssh\.com$/g, '')} />
        </Badge>
        {bits && (
          <Text variant="body-small" color="secondary">
            {t('person.keys.bits', { bits: bits.toLocaleString(locale()) })}
          </Text>
        )}
        <CopyButton
          value={line}
          label={t('person.keys.copyKey', { comment: visibleText(name) })}
        />
      </div>
    </li>
  );
}

function useFingerprint({ line, blob }: SshKey) {
  return useDirectoryQuery({
    key: ['ssh fingerprint', line],
    load: () => sshFingerprint(blob),
  });
}

/** Length of an OpenPGP version 4 fingerprint, in hexadecimal digits. */
const FINGERPRINT_LENGTH = 40;

/** OpenPGP keys, which the directory stores as IDs or fingerprints. */
function GpgKeys({ ids }: { ids: readonly string[] }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <section className={styles.section}>
      <Text as="h3" variant="body-medium" weight="bold">
        {t('person.keys.gpg')}
      </Text>
      <Rows>
        {ids.map(id => (
          <li key={id} className={rows.row}>
            <span className={`${rows.text} ${styles.id}`}>
              <code>
                <DirectoryText value={groupDigits(id)} />
              </code>
            </span>
            <div className={rows.badges}>
              <Badge>
                {t(
                  id.length >= FINGERPRINT_LENGTH
                    ? 'person.keys.fingerprint'
                    : 'person.keys.keyId',
                )}
              </Badge>
              <CopyButton
                value={id}
                label={t('person.keys.copyFingerprint', {
                  fingerprint: visibleText(id),
                })}
              />
            </div>
          </li>
        ))}
      </Rows>
    </section>
  );
}

/** Formats digits in groups of four. */
function groupDigits(id: string): string {
  return id.replace(/(.{4})(?=.)/g, '$1 ');
}
