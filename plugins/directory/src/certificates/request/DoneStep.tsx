import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert, Button, ButtonLink } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { DateTime, useNow } from '../../components/DateTime';
import { useCertificateAuthority } from '../../api/useDirectoryQuery';
import { saveFile } from '../../components/saveFile';
import { Section } from '../../page/DirectoryPage';
import { certificateRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { RevokeButton } from '../details/RevokeButton';
import { useCertificate } from '../details/useCertificate';
import { CertificateBadge, Facts } from '../Facts';
import { Instructions, OWN_KEY } from '../Instructions';
import { keyFileName, pemFile } from '../pem';
import { Serial } from '../Serial';
import { certificateState } from '../userCertificates';
import styles from './DoneStep.module.css';
import { SaveKey } from './SaveKey';
import { StepFrame } from './Stepper';

/** Downloads on the left, instructions on the right. */
export function DoneStep(props: {
  certificate: Certificate;

  /** The key if it was generated in the browser. */
  generated?: { privateKey: CryptoKey; isSaved: boolean; onSaved: () => void };
  username: string;

  /** Serial number of the certificate that was renewed, if any. */
  renewed: bigint | undefined;
}) {
  const { certificate, generated, username, renewed } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(certificateRouteRef);
  const canRevoke = useCertificateAuthority()?.can_revoke === true;
  const serial = String(certificate.serial_number);
  const files: KeyFiles = generated
    ? { source: 'browser', name: keyFileName(username, certificate) }
    : {
        source: 'own',
        name: keyFileName(username, certificate),
        file: pemFile(certificate).name,
      };

  return (
    <StepFrame
      title={t('request.done.title')}
      isWide
      actions={
        <ButtonLink variant="secondary" href={href?.({ serial }) ?? ''}>
          {t('request.done.details')}
        </ButtonLink>
      }
    >
      <IssuedFacts certificate={certificate} />
      {generated?.isSaved && (
        <Alert
          role="status"
          status="success"
          icon
          title={t('request.done.saved')}
        />
      )}
      <div className={styles.columns}>
        <div className={styles.column}>
          {generated && (
            <SaveKey
              certificate={certificate}
              privateKey={generated.privateKey}
              username={username}
              onSaved={generated.onSaved}
            />
          )}
          <Section
            isCard
            title={t('request.done.certificateOnly')}
            note={t('request.done.certificateOnlyHint')}
          >
            <Button
              variant={generated ? 'secondary' : 'primary'}
              onPress={() => saveFile(pemFile(certificate))}
            >
              {t('request.done.downloadCertificate')}
            </Button>
          </Section>
          {canRevoke && renewed !== undefined && (
            <OldCertificate serial={renewed} />
          )}
        </div>
        <div className={styles.column}>
          <UsageInstructions files={files} />
        </div>
      </div>
    </StepFrame>
  );
}

function IssuedFacts({ certificate }: { certificate: Certificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Facts
      facts={[
        { name: t('certificate.subject'), value: certificate.subject },
        {
          name: t('certificate.serial'),
          value: (
            <Serial
              serial={certificate.serial_number}
              hex={certificate.serial_number_hex}
              isWhole
            />
          ),
        },
        {
          name: t('certificate.expires'),
          value: <DateTime value={new Date(certificate.valid_not_after)} />,
        },
      ]}
    />
  );
}

/** Instructions for using the certificate and its key in common clients. */
function UsageInstructions({ files }: { files: KeyFiles }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const items = usageOf(files).map(({ client, commands }) => ({
    title: t(`request.done.${client}`),
    hint: t(`request.done.${client}Hint`),
    commands,
  }));
  return (
    <Section isCard title={t('request.done.usage')}>
      <Instructions items={items} />
    </Section>
  );
}

/** Offers to revoke the old certificate after a renewal. */
function OldCertificate({ serial }: { serial: bigint }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const certificate = useCertificate(serial).data?.certificate;
  const now = useNow();
  return (
    certificate && (
      <Section
        isCard
        title={t('request.done.old')}
        note={t('request.done.oldHint')}
      >
        <CertificateBadge state={certificateState(certificate, now)} />{' '}
        <RevokeButton certificate={certificate} reason="superseded" />
      </Section>
    )
  );
}

/**
 * The key and the files that the user has; `name` is that of files with the key,
 * without an extension.
 */
type KeyFiles =
  /** A PEM file with key and certificate or a PKCS#12 file, from this page. */
  | { readonly source: 'browser'; readonly name: string }
  /** The user's own key, and the certificate file. */
  | {
      readonly source: 'own';
      readonly name: string;
      readonly file: string;
    };

interface Usage {
  client: 'convert' | 'firefox' | 'chrome' | 'curl' | 'git' | 'ssh';
  commands?: string[];
}

/** Returns the commands for each client; browsers have instructions only. */
function usageOf(files: KeyFiles): Usage[] {
  const browsers: Usage[] = [{ client: 'firefox' }, { client: 'chrome' }];
  if (files.source === 'browser') {
    const pem = `${files.name}.pem`;
    return [
      ...browsers,
      {
        client: 'curl',
        commands: [`chmod 600 ${pem}`, `curl --cert ${pem} https://…`],
      },
      { client: 'git', commands: [`git config http.sslCert "$PWD/${pem}"`] },
      { client: 'ssh', commands: [`chmod 600 ${pem}`, `ssh-add ${pem}`] },
    ];
  }
  const { name, file } = files;
  return [
    {
      client: 'convert',
      commands: [
        `openssl pkcs12 -export -inkey ${OWN_KEY} -in ${file} -out ${name}.p12`,
      ],
    },
    ...browsers,
    {
      client: 'curl',
      commands: [`curl --cert ${file} --key ${OWN_KEY} https://…`],
    },
    {
      client: 'git',
      commands: [
        `git config http.sslCert "$PWD/${file}"`,
        `git config http.sslKey "$PWD/${OWN_KEY}"`,
      ],
    },
    { client: 'ssh', commands: [`ssh-add ${OWN_KEY}`] },
  ];
}
