import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert, Button, Radio, RadioGroup } from '@backstage/ui';
import { useState } from 'react';
import { directoryTranslationRef } from '../../translation';
import type { KeyKind } from '../key/makeRequest';
import { BroughtRequest } from './BroughtRequest';
import { Choice } from './Choice';
import type { KeyChoice } from './KeyChoice';
import { StepFrame } from './StepFrame';
import { useReadRequest } from './useReadRequest';

/** Options of {@link KeyStep}. */
export interface KeyStepProps {
  username: string;
  choice: KeyChoice;
  onChange: (choice: KeyChoice) => void;
  onBack: () => void;
  onNext: () => void;
}

/** Whose key: one that is made here, or one that the reader has a request of. */
export function KeyStep(props: KeyStepProps) {
  const { username, choice, onChange, onBack, onNext } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const [isMaking, setMaking] = useState(false);
  const read = useReadRequest(choice.brought);
  const canMake = window.isSecureContext;
  const isReady = choice.way === 'make' ? canMake : read.state === 'read';

  async function handleNext() {
    if (isMaking) {
      return;
    }
    if (choice.way === 'make' && choice.made?.kind !== choice.kind) {
      setMaking(true);
      const { makeRequest } = await import('../key/makeRequest');
      const made = await makeRequest({ username, kind: choice.kind });
      onChange({ ...choice, made });
    }
    onNext();
  }

  return (
    <StepFrame
      title={t('certificates.newOne.key.title')}
      actions={
        <>
          <Button variant="secondary" onPress={onBack} isDisabled={isMaking}>
            {t('certificates.newOne.back')}
          </Button>
          <Button onPress={handleNext} isDisabled={!isReady}>
            {isMaking
              ? t('certificates.newOne.key.making')
              : t('certificates.newOne.next')}
          </Button>
        </>
      }
    >
      <Choice
        name="key"
        title={t('certificates.newOne.key.make')}
        description={t('certificates.newOne.key.makeHint', { username })}
        isChosen={choice.way === 'make'}
        onChoose={() => onChange({ ...choice, way: 'make' })}
      >
        {canMake ? (
          <RadioGroup
            label={t('certificates.newOne.key.kind')}
            value={choice.kind}
            onChange={kind => onChange({ ...choice, kind: kind as KeyKind })}
          >
            <Radio value="P-256">{t('certificates.newOne.key.p256')}</Radio>
            <Radio value="RSA-3072">
              {t('certificates.newOne.key.rsa3072')}
            </Radio>
          </RadioGroup>
        ) : (
          <Alert
            status="warning"
            icon
            title={t('certificates.newOne.key.insecure')}
          />
        )}
      </Choice>
      <Choice
        name="key"
        title={t('certificates.newOne.key.own')}
        description={t('certificates.newOne.key.ownHint')}
        isChosen={choice.way === 'bring'}
        onChoose={() => onChange({ ...choice, way: 'bring' })}
      >
        <BroughtRequest
          text={choice.brought}
          read={read}
          onChange={brought => onChange({ ...choice, brought })}
        />
      </Choice>
    </StepFrame>
  );
}
