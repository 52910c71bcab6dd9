import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert, Button, ButtonLink, Text } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { RiCalendarEventLine } from '@remixicon/react';
import { CopyButton } from '../../components/CopyButton';
import { DateTime } from '../../components/DateTime';
import { saveFile } from '../../components/saveFile';
import { Section } from '../../page/DirectoryPage';
import { certificateRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { Facts } from '../Facts';
import { pemFile } from '../pem';
import { useReminder } from '../reminder';
import { Serial } from '../Serial';
import styles from './DoneStep.module.css';
import { SaveKey } from './SaveKey';
import { StepFrame } from './Stepper';

/** Downloads at the left, instructions at the right. */
export function DoneStep(props: {
  certificate: Certificate;

  /** The private key, when it was generated in the browser. */
  privateKey: CryptoKey | undefined;
  username: string;
  isSaved: boolean;
  onSaved: () => void;
}) {
  const { certificate, privateKey, username, isSaved, onSaved } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(certificateRouteRef);
  const saveReminder = useReminder();
  const serial = String(certificate.serial_number);
  const files: KeyFiles = privateKey
    ? { source: 'browser', username }
    : { source: 'own', username, file: pemFile(certificate).name };

  return (
    <StepFrame
      title={t('request.done.title')}
      isWide
      actions={
        <>
          <ButtonLink variant="secondary" href={href?.({ serial }) ?? ''}>
            {t('request.done.details')}
          </ButtonLink>
          <Button
            variant="secondary"
            iconStart={<RiCalendarEventLine />}
            onPress={() => saveReminder(certificate)}
          >
            {t('certificates.reminder')}
          </Button>
        </>
      }
    >
      <IssuedFacts certificate={certificate} />
      {privateKey && (
        <Alert
          role="status"
          status={isSaved ? 'success' : 'warning'}
          icon
          title={t(isSaved ? 'request.done.saved' : 'request.done.unsaved')}
        />
      )}
      <div className={styles.columns}>
        <div className={styles.column}>
          {privateKey && (
            <SaveKey
              certificate={certificate}
              privateKey={privateKey}
              username={username}
              onSaved={onSaved}
            />
          )}
          <Section
            isCard
            title={t('request.done.certificateOnly')}
            note={t('request.done.certificateOnlyHint')}
          >
            <Button
              variant={privateKey ? 'secondary' : 'primary'}
              onPress={() => saveFile(pemFile(certificate))}
            >
              {t('request.done.downloadCertificate')}
            </Button>
          </Section>
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
          name: t('certificate.to'),
          value: <DateTime value={new Date(certificate.valid_not_after)} />,
        },
      ]}
    />
  );
}

/** Instructions to use the certificate and its key in common clients. */
function UsageInstructions({ files }: { files: KeyFiles }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Section isCard title={t('request.done.usage')}>
      <dl className={styles.instructions}>
        {usageOf(files).map(({ client, commands = [] }) => (
          <div key={client}>
            <dt>
              <Text weight="bold">{t(`request.done.${client}`)}</Text>
            </dt>
            <dd>
              <Text as="p" color="secondary">
                {t(`request.done.${client}Hint`)}
              </Text>
              {commands.map(command => (
                <div key={command} className={styles.command}>
                  <code>{command}</code>
                  <CopyButton
                    value={command}
                    label={t('copy.value', { value: command })}
                  />
                </div>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

/** The key and the files that the user has. */
type KeyFiles =
  /** A PEM file of key and certificate, or a PKCS#12 file, from this page. */
  | { readonly source: 'browser'; readonly username: string }
  /** The user's own key, and the certificate file. */
  | {
      readonly source: 'own';
      readonly username: string;
      readonly file: string;
    };

/** Placeholder for the path of the user's own key. */
const OWN_KEY = 'your.key';

interface Usage {
  client: 'convert' | 'firefox' | 'chrome' | 'curl' | 'git' | 'ssh';
  commands?: string[];
}

/** Returns the commands for each client; browsers have instructions only. */
function usageOf(files: KeyFiles): Usage[] {
  const browsers: Usage[] = [{ client: 'firefox' }, { client: 'chrome' }];
  if (files.source === 'browser') {
    const pem = `${files.username}.pem`;
    return [
      ...browsers,
      { client: 'curl', commands: [`curl --cert ${pem} https://…`] },
      { client: 'git', commands: [`git config http.sslCert "$PWD/${pem}"`] },
      { client: 'ssh', commands: [`chmod 600 ${pem}`, `ssh-add ${pem}`] },
    ];
  }
  const { username, file } = files;
  return [
    {
      client: 'convert',
      commands: [
        `openssl pkcs12 -export -inkey ${OWN_KEY} -in ${file} -out ${username}.p12`,
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
