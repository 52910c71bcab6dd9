import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Link } from '@backstage/ui';
import { DateTime, formatLeft, useNow } from '../../components/DateTime';
import { DirectoryText } from '../../components/DirectoryText';
import {
  CertificateBadge,
  CertificateHint,
} from '../../person/certificates/CertificateBadge';
import { certificateState } from '../../person/certificates/certificateState';
import { personRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { Facts } from '../Facts';
import { Serial } from '../Serial';
import { Part } from './Part';
import type { CertificateDetails } from './useCertificate';

/** For whom it is, its number, how it stands, and until when. */
export function About({
  details: { certificate, chain },
}: {
  details: CertificateDetails;
}) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const now = useNow();
  const end = new Date(certificate.valid_not_after);
  const state = certificateState(certificate, now);

  return (
    <Part title={t('certificates.details.about')}>
      <Facts
        facts={[
          {
            name: t('certificates.details.state'),
            value: (
              <>
                <CertificateBadge state={state} />
                <CertificateHint state={state} />
              </>
            ),
          },
          {
            name: t('certificates.details.subject'),
            value: certificate.subject,
          },
          ...(certificate.owner_user?.length
            ? [
                {
                  name: t('certificates.details.owner'),
                  value: <Owners usernames={certificate.owner_user} />,
                },
              ]
            : []),
          {
            name: t('certificates.details.serial'),
            value: (
              <Serial
                serial={certificate.serial_number}
                hex={certificate.serial_number_hex}
                isWhole
              />
            ),
          },
          {
            name: t('certificates.details.hexadecimal'),
            value: <code>{certificate.serial_number_hex}</code>,
          },
          {
            name: t('certificates.details.from'),
            value: <DateTime value={new Date(certificate.valid_not_before)} />,
          },
          {
            name: t('certificates.details.to'),
            value: (
              <>
                <DateTime value={end} />
                {state !== 'revoked' && state !== 'foreign' && (
                  <> ({formatLeft(end, now)})</>
                )}
              </>
            ),
          },
          { name: t('certificates.details.key'), value: chain[0].key },
        ]}
      />
    </Part>
  );
}

function Owners({ usernames }: { usernames: readonly string[] }) {
  const href = useRouteRef(personRouteRef);
  return (
    <ul>
      {usernames.map(username => (
        <li key={username}>
          <Link href={href?.({ username }) ?? ''}>
            <DirectoryText value={username} />
          </Link>
        </li>
      ))}
    </ul>
  );
}
