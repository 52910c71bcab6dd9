import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert, Button, ButtonLink, Text } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { RiCalendarEventLine } from '@remixicon/react';
import type { ReactNode } from 'react';
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
        {
          name: t('certificate.subject'),
          value: certificate.subject,
        },
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
        {files.source === 'own' && (
          <Instructions
            name={t('request.done.convert')}
            hint={t('request.done.convertHint')}
          >
            <Command text={pkcs12Command(files)} />
          </Instructions>
        )}
        {(['firefox', 'chrome'] as const).map(browser => (
          <Instructions
            key={browser}
            name={t(`request.done.${browser}`)}
            hint={t(`request.done.${browser}Hint`)}
          />
        ))}
        {(['curl', 'git', 'ssh'] as const).map(program => (
          <Instructions
            key={program}
            name={t(`request.done.${program}`)}
            hint={program === 'ssh' ? t('request.done.sshHint') : undefined}
          >
            {usageCommands(program, files).map(command => (
              <Command key={command} text={command} />
            ))}
          </Instructions>
        ))}
      </dl>
    </Section>
  );
}

function Instructions(props: {
  name: string;
  hint?: string;
  children?: ReactNode;
}) {
  const { name, hint, children } = props;
  return (
    <div>
      <dt>
        <Text weight="bold">{name}</Text>
      </dt>
      <dd>
        {hint && (
          <Text as="p" color="secondary">
            {hint}
          </Text>
        )}
        {children}
      </dd>
    </div>
  );
}

function Command({ text }: { text: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <div className={styles.command}>
      <code>{text}</code>
      <CopyButton value={text} label={t('copy.value', { value: text })} />
    </div>
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

type ClientProgram = 'curl' | 'git' | 'ssh';

/** Placeholder for the path of the user's own key. */
const OWN_KEY = 'your.key';

/** Returns the commands that configure a client. */
function usageCommands(program: ClientProgram, files: KeyFiles): string[] {
  const isOwn = files.source === 'own';
  const certificate = isOwn ? files.file : `${files.username}.pem`;
  switch (program) {
    case 'curl':
      return [
        `curl --cert ${certificate}${
          isOwn ? ` --key ${OWN_KEY}` : ''
        } https://…`,
      ];
    case 'git':
      return [
        `git config http.sslCert "$PWD/${certificate}"`,
        ...(isOwn ? [`git config http.sslKey "$PWD/${OWN_KEY}"`] : []),
      ];
    default:
      return isOwn
        ? [`ssh-add ${OWN_KEY}`]
        : [`chmod 600 ${certificate}`, `ssh-add ${certificate}`];
  }
}

/** Returns the command that creates a PKCS#12 file of the user's own key. */
function pkcs12Command(files: KeyFiles & { source: 'own' }): string {
  const { username, file } = files;
  return `openssl pkcs12 -export -inkey ${OWN_KEY} -in ${file} -out ${username}.p12`;
}
