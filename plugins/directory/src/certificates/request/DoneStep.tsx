import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert, Button, ButtonLink } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { certificateRouteRef } from '../../routes';
import { DateTime } from '../../time';
import { directoryTranslationRef } from '../../translation';
import { Facts } from '../details/Facts';
import { Part } from '../details/Part';
import { pemFile, saveFile } from '../download';
import { Serial } from '../Serial';
import { HowToUse } from './HowToUse';
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

/** What there is to take along, and how to use it. */
export function DoneStep(props: DoneStepProps) {
  const { certificate, privateKey, username, isSaved, onSaved } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(certificateRouteRef);
  const serial = String(certificate.serial_number);

  return (
    <StepFrame
      title={t('certificates.newOne.done.title')}
      actions={
        <ButtonLink variant="secondary" href={href?.({ serial }) ?? ''}>
          {t('certificates.newOne.done.details')}
        </ButtonLink>
      }
    >
      <Facts
        facts={[
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
      {privateKey && (
        <>
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
          <SaveKey
            certificate={certificate}
            privateKey={privateKey}
            username={username}
            onSaved={onSaved}
          />
        </>
      )}
      <Part
        title={t('certificates.newOne.done.alone')}
        note={t('certificates.newOne.done.aloneHint')}
      >
        <Button
          variant="secondary"
          onPress={() => saveFile(pemFile(certificate))}
        >
          {t('certificates.newOne.done.downloadAlone')}
        </Button>
      </Part>
      <HowToUse username={username} />
    </StepFrame>
  );
}
