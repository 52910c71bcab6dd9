import { useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  Button,
  Dialog,
  DialogBody,
  DialogFooter,
  DialogHeader,
  Radio,
  RadioGroup,
  Text,
} from '@backstage/ui';
import {
  type Certificate,
  isDirectoryResponseError,
} from '@directory-gateway/backstage-plugin-directory-common';
import { RiForbidLine } from '@remixicon/react';
import { useState } from 'react';
import {
  useCertificateAuthority,
  useCurrentUser,
  useDirectoryMutation,
  useMay,
} from '../../api/useDirectoryQuery';
import { useNow } from '../../components/DateTime';
import { readable } from '../../page/DirectoryPage';
import { FailureAlert } from '../../page/states';
import { directoryTranslationRef } from '../../translation';
import { Facts, useCertificateName } from '../Facts';
import {
  type CertificateState,
  certificateState,
  type ListedCertificate,
} from '../userCertificates';
import styles from './RevokeButton.module.css';

/** Reasons to revoke a certificate, most common first (RFC 5280 §5.3.1). */
const REVOCATION_REASONS = [
  'superseded',
  'cessationOfOperation',
  'keyCompromise',
  'affiliationChanged',
  'privilegeWithdrawn',
  'unspecified',
] as const;

type RevocationReason = (typeof REVOCATION_REASONS)[number];

const REVOCABLE: ReadonlySet<CertificateState> = new Set([
  'valid',
  'expiring',
  'notYet',
]);

/** Whether the current user is an owner of a certificate. */
export function useIsOwner({
  owner_user: owners,
}: Pick<Certificate, 'owner_user'>): boolean {
  const username = useCurrentUser().data;
  return Boolean(username && owners?.includes(username));
}

/**
 * Whether the CA can revoke certificates, the user owns the certificate or may
 * revoke those of others, and it was issued here and is neither revoked nor
 * expired.
 */
export function useCanRevoke(
  certificate: Pick<Certificate, 'owner_user'> & ListedCertificate,
): boolean {
  const isOwner = useIsOwner(certificate);
  const mayRevoke = useMay('directory.certificate.revoke');
  const canRevoke = useCertificateAuthority()?.can_revoke === true;
  const state = certificateState(certificate, useNow());
  return canRevoke && (mayRevoke || isOwner) && REVOCABLE.has(state);
}

/** Button that opens the revocation dialog, for users who can revoke. */
export function RevokeButton(props: {
  certificate: Certificate;

  /** Initially selected reason. Defaults to none. */
  reason?: RevocationReason;
}) {
  const { certificate, reason } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const [isOpen, setOpen] = useState(false);
  if (!useCanRevoke(certificate)) {
    return null;
  }
  return (
    <>
      <Button
        variant="secondary"
        iconStart={<RiForbidLine />}
        onPress={() => setOpen(true)}
      >
        {t('certificate.revoke.button')}
      </Button>
      {isOpen && (
        <RevokeDialog
          certificate={certificate}
          initialReason={reason}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

/** What the dialog shows of a certificate. */
type NamedCertificate = Pick<
  Certificate,
  'serial_number' | 'owner_user' | 'extended_key_usage' | 'label'
>;

/** Dialog that identifies the certificate, requires a reason and revokes it. */
export function RevokeDialog(props: {
  certificate: NamedCertificate;

  /** Defaults to none. */
  initialReason?: RevocationReason;
  onClose: () => void;
}) {
  const { certificate, initialReason, onClose } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const [reason, setReason] = useState(initialReason);
  const { mutate, isPending, error } = useRevocation(certificate.serial_number);
  const isTooOld =
    isDirectoryResponseError(error) &&
    error.body?.reason === 'recent_sign_in_required';

  function handleConfirm() {
    if (reason && !isPending) {
      mutate(reason, { onSuccess: onClose });
    }
  }

  return (
    <Dialog isOpen width={560} onOpenChange={isOpen => !isOpen && onClose()}>
      <DialogHeader>{t('certificate.revoke.title')}</DialogHeader>
      <DialogBody className={`${styles.body} ${readable}`}>
        <CertificateNames certificate={certificate} />
        <Text as="p">{t('certificate.revoke.description')}</Text>
        <RadioGroup
          label={t('certificate.revoke.why')}
          value={reason ?? null}
          onChange={chosen => setReason(chosen as RevocationReason)}
        >
          {REVOCATION_REASONS.map(name => (
            <Radio key={name} value={name}>
              {t(`certificate.revoke.reason.${name}`)}
            </Radio>
          ))}
        </RadioGroup>
        {error && (
          <FailureAlert
            error={error}
            onRetry={handleConfirm}
            signInAgain={
              isTooOld ? t('certificate.revoke.signInAgain') : undefined
            }
          />
        )}
      </DialogBody>
      <DialogFooter>
        <Button variant="secondary" onPress={onClose} isDisabled={isPending}>
          {t('certificate.revoke.cancel')}
        </Button>
        <Button
          destructive
          className={styles.confirm}
          isDisabled={!reason}
          onPress={handleConfirm}
        >
          {t(
            isPending
              ? 'certificate.revoke.working'
              : 'certificate.revoke.confirm',
          )}
        </Button>
      </DialogFooter>
    </Dialog>
  );
}

/** Identifies the certificate, to prevent the wrong one from being chosen. */
export function CertificateNames(props: { certificate: NamedCertificate }) {
  const { certificate } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { serial_number, owner_user: owners } = certificate;
  const name = useCertificateName()(certificate);
  return (
    <div className={styles.names}>
      <Facts
        facts={[
          { name: t('certificate.purpose'), value: name },
          {
            name: t('certificate.serial'),
            value: <code>{String(serial_number)}</code>,
          },
          owners?.length
            ? { name: t('certificate.owner'), value: owners.join(', ') }
            : undefined,
        ]}
      />
    </div>
  );
}

/** Revokes a certificate and reloads all queries. */
function useRevocation(serial: bigint) {
  return useDirectoryMutation(
    (client, reason: RevocationReason) =>
      client.post('/certs/{serial_number}/revocation/', {
        params: { path: { serial_number: serial } },
        body: { reason },
      }),
    [],
  );
}
