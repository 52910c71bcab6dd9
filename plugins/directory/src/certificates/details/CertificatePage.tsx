import { useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  Accordion,
  AccordionPanel,
  AccordionTrigger,
  Button,
  ButtonLink,
  Flex,
  Menu,
  MenuItem,
  MenuTrigger,
} from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import {
  RiArrowDownSLine,
  RiDownloadLine,
  RiRefreshLine,
} from '@remixicon/react';
import {
  isNotFound,
  useCurrentUser,
  useMay,
  useOperations,
} from '../../api/useDirectoryQuery';
import { useNow } from '../../components/DateTime';
import { DirectoryText } from '../../components/DirectoryText';
import { DirectoryPage } from '../../page/DirectoryPage';
import { QueryPanel } from '../../page/QueryPanel';
import { directoryTranslationRef } from '../../translation';
import { useDownloads } from '../downloads';
import {
  CertificatesSkeleton,
  NoCertificate,
  useCertificateName,
} from '../Facts';
import { useRenewHref } from '../useRenewHref';
import { OpenBySerial, parseSerial, shortenSerial } from '../Serial';
import { Instructions } from '../Instructions';
import { certificateState, isValid } from '../userCertificates';
import { About, AlternativeNames, Usages } from './About';
import styles from './CertificatePage.module.css';
import { Chain, Fingerprints, Revocation } from './Chain';
import { RevokeButton, useIsOwner } from './RevokeButton';
import { type CertificateDetails, useCertificate } from './useCertificate';

/** `/directory/certificates/{serial}`: one certificate. */
export function CertificatePage({ serial: text }: { serial: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const serial = parseSerial(text);
  const query = useCertificate(serial);
  const { data, error } = query;
  // Buttons and rows depend on the user; they must not appear after the others.
  const operations = useOperations();
  const user = useCurrentUser();
  const isUserPending = !operations.isFetched || !user.isFetched;
  const decimal = String(serial ?? text);
  const nameOf = useCertificateName();
  const isShown = data && !isUserPending && !isNotFound(error);

  return (
    <DirectoryPage
      area="certificates"
      subject={
        isShown
          ? nameOf(data.certificate)
          : t('certificate.title', { serial: shortenSerial(decimal) })
      }
      actions={
        isShown && <CertificateActionBar certificate={data.certificate} />
      }
    >
      {serial === undefined ? (
        <>
          <NoCertificate
            title={t('certificate.notSerial.title', {
              text: <DirectoryText value={text} />,
            })}
            description={t('certificate.notSerial.description')}
          />
          <OpenBySerial />
        </>
      ) : (
        <QueryPanel
          query={query}
          skeleton={<CertificatesSkeleton />}
          notFound={
            <>
              <NoCertificate
                title={t('certificate.notFound.title', { serial: decimal })}
                description={t('certificate.notFound.description')}
              />
              <OpenBySerial />
            </>
          }
        >
          {details =>
            isUserPending ? (
              <CertificatesSkeleton />
            ) : (
              <CertificateView details={details} />
            )
          }
        </QueryPanel>
      )}
    </DirectoryPage>
  );
}

/**
 * The contents of a certificate: the subject on the left, the issuer on the
 * right.
 */
function CertificateView({ details }: { details: CertificateDetails }) {
  const { certificate, chain } = details;
  const canRenew = useCanRenew(certificate) && Boolean(certificate.profile);
  return (
    <>
      <Revocation certificate={certificate} />
      <div className={styles.certificate}>
        <div className={styles.column}>
          <About details={details} />
          <Fingerprints certificate={certificate} />
        </div>
        <div className={styles.column}>
          <Chain certificate={certificate} chain={chain} />
          <AlternativeNames certificate={certificate} />
          <Usages certificate={certificate} leaf={chain[0]} />
          {canRenew && <RenewWithCurl certificate={certificate} />}
        </div>
      </div>
    </>
  );
}

/** Commands that renew the user's certificate outside the portal, folded. */
function RenewWithCurl({
  certificate: { uri, owner_user: owners },
}: {
  certificate: Certificate;
}) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Accordion className={styles.commands}>
      <AccordionTrigger level={2} title={t('certificate.commandLine.title')} />
      <AccordionPanel>
        <Instructions
          items={[
            {
              title: t('certificate.commandLine.curl'),
              hint: t('certificate.commandLine.curlHint'),
              commands: [
                `openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -subj '/CN=${owners?.[0]}' -keyout new.key -out new.csr`,
                `curl --negotiate -u : --data-urlencode csr@new.csr ${uri}renewal/ | jq -r .result.certificate >new.pem`,
              ],
            },
          ]}
        />
      </AccordionPanel>
    </Accordion>
  );
}

/**
 * Whether the user can renew a certificate: the user owns it and it is valid.
 */
function useCanRenew(certificate: Certificate): boolean {
  const isOwner = useIsOwner(certificate);
  const maySign = useMay('directory.certificate.sign');
  return isValid(certificate, useNow()) && isOwner && maySign;
}

function CertificateActionBar({ certificate }: { certificate: Certificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const renewHref = useRenewHref();
  const canRenew = useCanRenew(certificate);
  const downloads = useDownloads(certificate);
  const isDue = certificateState(certificate, useNow()) === 'expiring';
  return (
    <Flex gap="2" style={{ flexWrap: 'wrap' }}>
      {canRenew && (
        <ButtonLink
          variant={isDue ? 'primary' : 'secondary'}
          href={renewHref(certificate)}
          iconStart={<RiRefreshLine />}
        >
          {t('certificate.renew')}
        </ButtonLink>
      )}
      <RevokeButton certificate={certificate} />
      <MenuTrigger>
        <Button
          variant="secondary"
          iconStart={<RiDownloadLine />}
          iconEnd={<RiArrowDownSLine />}
        >
          {t('certificate.download')}
        </Button>
        <Menu aria-label={t('certificate.download')} placement="bottom end">
          {downloads.map(({ label, icon, save }) => (
            <MenuItem key={label} iconStart={icon} onAction={save}>
              {label}
            </MenuItem>
          ))}
        </Menu>
      </MenuTrigger>
    </Flex>
  );
}
