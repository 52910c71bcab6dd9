import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert, Button, ButtonLink } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { RiCalendarEventLine } from '@remixicon/react';
import { saveFile } from '../../components/saveFile';
import { certificateRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { Part } from '../details/Part';
import { pemFile } from '../pem';
import { useReminder } from '../reminder';
import type { Holding } from './commandsFor';
import styles from './DoneStep.module.css';
import { HowToUse } from './HowToUse';
import { IssuedFacts } from './IssuedFacts';
import { SaveKey } from './SaveKey';
import { StepFrame } from './StepFrame';

/** Options of {@link DoneStep}. */
export interface DoneStepProps {
  certificate: Certificate;

  /** The key, when it was made here. */
  privateKey: CryptoKey | undefined;
  username: string;
  isSaved: boolean;

  /** Is told once the key is among the reader's downloads. */
  onSaved: () => void;
}

/** What there is to take along at the left, and how to use it at the right. */
export function DoneStep(props: DoneStepProps) {
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
