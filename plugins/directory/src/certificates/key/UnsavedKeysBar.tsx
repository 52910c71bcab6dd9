import {
  useApi,
  useAppNavigate,
  useAppSearchParams,
  useRouteRef,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import {
  Alert,
  Button,
  ButtonLink,
  Dialog,
  DialogBody,
  DialogFooter,
  DialogHeader,
  Flex,
  Text,
  VisuallyHidden,
} from '@backstage/ui';
import { useEffect, useId, useState } from 'react';
import { useCurrentUser } from '../../api/useDirectoryQuery';
import { saveFile } from '../../components/saveFile';
import { readable } from '../../page/DirectoryPage';
import { certificatesRouteRef, requestCertificateRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { CertificateNames } from '../details/RevokeButton';
import { useCertificateName } from '../Facts';
import { exportKey } from '../pem';
import { shortenSerial } from '../Serial';
import {
  type UnsavedKey,
  unsavedKeysApiRef,
  useUnsavedKeys,
} from './unsavedKeys';
import styles from './UnsavedKeysBar.module.css';

/**
 * Bar at the top of every page with the user's unsaved keys. Removes those of
 * other users: a session can continue as another user when the Kerberos ticket
 * changes. A screen reader announces the number of keys when it changes.
 */
export function UnsavedKeysBar() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const store = useApi(unsavedKeysApiRef);
  const { data: username } = useCurrentUser();
  const keys = useUnsavedKeys().filter(
    key => key.username === username && !key.isPending,
  );

  useEffect(() => {
    if (username) {
      store.remove(key => key.username !== username);
    }
  }, [store, username]);

  return (
    <>
      <VisuallyHidden role="status">
        {keys.length > 0 && t('request.unsaved.status', { count: keys.length })}
      </VisuallyHidden>
      {keys.length > 0 && (
        <section className={styles.bar} aria-label={t('request.unsaved.label')}>
          {keys.map(key => (
            <KeyAlert key={key.id} unsaved={key} />
          ))}
        </section>
      )}
    </>
  );
}

/**
 * A key with its actions, except the link to the current page. A downloaded key
 * stays until it is discarded: the browser does not report whether the file was
 * written.
 */
function KeyAlert({ unsaved }: { unsaved: UnsavedKey }) {
  const { id, certificate, privateKey, username } = unsaved;
  const { t } = useTranslationRef(directoryTranslationRef);
  const nameOf = useCertificateName();
  const page = useRouteRef(requestCertificateRouteRef)?.() ?? '/';
  const [search] = useAppSearchParams();
  const [isDiscarding, setDiscarding] = useState(false);
  const title = useId();

  async function saveKey() {
    saveFile({
      name: `${username}.key`,
      type: 'application/x-pem-file',
      content: await exportKey(privateKey),
    });
  }

  return (
    <>
      <Alert
        status="warning"
        icon
        className={styles.key}
        title={
          <span id={title}>
            {certificate
              ? t('request.unsaved.issued', { name: nameOf(certificate) })
              : t('request.unsaved.unknown')}
          </span>
        }
        description={
          certificate
            ? t('request.unsaved.issuedHint', {
                serial: shortenSerial(String(certificate.serial_number)),
              })
            : t('request.unsaved.unknownHint')
        }
        customActions={
          <>
            {!certificate && (
              <Button size="small" aria-describedby={title} onPress={saveKey}>
                {t('request.unsaved.download')}
              </Button>
            )}
            {certificate && search.get('key') !== id && (
              <ButtonLink
                size="small"
                href={`${page}?key=${id}`}
                aria-describedby={title}
              >
                {t('request.unsaved.save')}
              </ButtonLink>
            )}
            <Button
              size="small"
              variant="secondary"
              aria-describedby={title}
              onPress={() => setDiscarding(true)}
            >
              {t('request.unsaved.discard')}
            </Button>
          </>
        }
      />
      {isDiscarding && (
        <DiscardDialog unsaved={unsaved} onClose={() => setDiscarding(false)} />
      )}
    </>
  );
}

/** Asks for confirmation, then removes the key and leaves its page. */
function DiscardDialog(props: { unsaved: UnsavedKey; onClose: () => void }) {
  const { unsaved, onClose } = props;
  const { id, certificate } = unsaved;
  const { t } = useTranslationRef(directoryTranslationRef);
  const keys = useApi(unsavedKeysApiRef);
  const certificates = useRouteRef(certificatesRouteRef)?.() ?? '/';
  const navigate = useAppNavigate();
  const [search] = useAppSearchParams();

  function discard() {
    if (search.get('key') === id) {
      navigate(certificates);
    }
    keys.remove(key => key.id === id);
  }

  return (
    <Dialog isOpen width={480} onOpenChange={isOpen => !isOpen && onClose()}>
      <DialogHeader>{t('request.unsaved.discardTitle')}</DialogHeader>
      <DialogBody className={readable}>
        <Flex direction="column" gap="4">
          {certificate && <CertificateNames certificate={certificate} />}
          <Text as="p">{t('request.unsaved.discardHint')}</Text>
        </Flex>
      </DialogBody>
      <DialogFooter>
        <Button variant="secondary" onPress={discard}>
          {t('request.unsaved.discard')}
        </Button>
        <Button onPress={onClose}>{t('request.unsaved.keep')}</Button>
      </DialogFooter>
    </Dialog>
  );
}
