import { useTranslationRef } from '@backstage/frontend-plugin-api';
import type { User } from '@directory-gateway/backstage-plugin-directory-common';
import { RiKey2Line } from '@remixicon/react';
import { DirectoryText } from '../components/DirectoryText';
import { EmptyState } from '../page/states';
import { directoryTranslationRef } from '../translation';
import { GpgKeys } from './keys/GpgKeys';
import { SshKeys } from './keys/SshKeys';

/** Somebody's SSH and OpenPGP keys. */
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
