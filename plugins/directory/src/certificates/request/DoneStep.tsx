import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert, Button, ButtonLink, Text } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { RiCalendarEventLine } from '@remixicon/react';
import type { ReactNode } from 'react';
import { CopyButton } from '../../components/CopyButton';
import { DateTime } from '../../components/DateTime';
import { saveFile } from '../../components/saveFile';
import { certificateRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { Facts, Part } from '../Facts';
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

  /** Called when the key has been downloaded. */
  onSaved: () => void;
}) {
  const { certificate, privateKey, username, isSaved, onSaved } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(certificateRouteRef);
  const saveReminder = useReminder();
  const serial = String(certificate.serial_number);
  const holding: Holding = privateKey
    ? { key: 'made', username }
    : { key: 'own', username, file: pemFile(certificate).name };

  return (
    <StepFrame
      title={t('certificates.newOne.done.title')}
      isWide
      actions={
        <>
          <ButtonLink variant="secondary" href={href?.({ serial }) ?? ''}>
            {t('certificates.newOne.done.details')}
          </ButtonLink>
          <Button
            variant="secondary"
            iconStart={<RiCalendarEventLine />}
            onPress={() => saveReminder(certificate)}
          >
            {t('certificates.newOne.done.reminder')}
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
          title={t(
            isSaved
              ? 'certificates.newOne.done.saved'
              : 'certificates.newOne.done.unsaved',
          )}
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
          <Part
            title={t('certificates.newOne.done.alone')}
            note={t('certificates.newOne.done.aloneHint')}
          >
            <Button
              variant={privateKey ? 'secondary' : 'primary'}
              onPress={() => saveFile(pemFile(certificate))}
            >
              {t('certificates.newOne.done.downloadAlone')}
            </Button>
          </Part>
        </div>
        <div className={styles.column}>
          <HowToUse holding={holding} />
        </div>
      </div>
    </StepFrame>
  );
}

/** Subject, serial number and expiry of the issued certificate. */
function IssuedFacts({ certificate }: { certificate: Certificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Facts
      facts={[
        {
          name: t('certificates.details.subject'),
          value: certificate.subject,
        },
        {
          name: t('certificates.newOne.done.serial'),
          value: (
            <Serial
              serial={certificate.serial_number}
              hex={certificate.serial_number_hex}
              isWhole
            />
          ),
        },
        {
          name: t('certificates.newOne.done.ends'),
          value: <DateTime value={new Date(certificate.valid_not_after)} />,
        },
      ]}
    />
  );
}

/** Instructions to use the certificate and its key in common programs. */
function HowToUse({ holding }: { holding: Holding }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Part title={t('certificates.newOne.done.how')}>
      <dl className={styles.ways}>
        {holding.key === 'own' && (
          <Way
            name={t('certificates.newOne.done.convert')}
            hint={t('certificates.newOne.done.convertHow')}
          >
            <Command text={pkcs12Command(holding)} />
          </Way>
        )}
        {(['firefox', 'chrome'] as const).map(browser => (
          <Way
            key={browser}
            name={t(`certificates.newOne.done.${browser}`)}
            hint={t(`certificates.newOne.done.${browser}How`)}
          />
        ))}
        {(['curl', 'git', 'ssh'] as const).map(program => (
          <Way
            key={program}
            name={t(`certificates.newOne.done.${program}`)}
            hint={
              program === 'ssh'
                ? t('certificates.newOne.done.sshHow')
                : undefined
            }
          >
            {commandsFor(program, holding).map(command => (
              <Command key={command} text={command} />
            ))}
          </Way>
        ))}
      </dl>
    </Part>
  );
}

/** Instructions for one program. */
function Way(props: { name: string; hint?: string; children?: ReactNode }) {
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
      <CopyButton value={text} label={t('person.copyValue', { value: text })} />
    </div>
  );
}

/** The key and the files that the user has. */
type Holding =
  /** A PEM file of key and certificate, or a PKCS#12 file, from this page. */
  | { readonly key: 'made'; readonly username: string }
  /** The user's own key, and the certificate file. */
  | { readonly key: 'own'; readonly username: string; readonly file: string };

/** Programs that are configured by commands. */
type Program = 'curl' | 'git' | 'ssh';

/** Placeholder for the path of the user's own key. */
const OWN_KEY = 'your.key';

/** Returns the commands that configure a program. */
function commandsFor(program: Program, holding: Holding): string[] {
  const isOwn = holding.key === 'own';
  const certificate = isOwn ? holding.file : `${holding.username}.pem`;
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

/** Returns the command that makes a PKCS#12 file of the user's own key. */
function pkcs12Command(holding: Holding & { key: 'own' }): string {
  const { username, file } = holding;
  return `openssl pkcs12 -export -inkey ${OWN_KEY} -in ${file} -out ${username}.p12`;
}
