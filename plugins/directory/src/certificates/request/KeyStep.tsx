import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert, Button, Radio, RadioGroup, TextAreaField } from '@backstage/ui';
import { type DragEvent, useEffect, useState } from 'react';
import { directoryTranslationRef } from '../../translation';
import { Facts } from '../Facts';
import type { KeyKind, MadeRequest } from '../key/makeRequest';
import type { ReadRequest } from '../key/readRequest';
import styles from './KeyStep.module.css';
import { Choice, StepFrame } from './Stepper';

/** Input of the step, kept while the user moves between steps. */
interface KeyChoice {
  way: 'make' | 'bring';

  /** Kind of key to generate. */
  kind: KeyKind;

  /** Last generated key, possibly of another kind; `undefined` before the first. */
  made: MadeRequest | undefined;

  /** Text that was pasted or dropped. */
  brought: string;
}

/** Default input. */
export const firstChoice: KeyChoice = {
  way: 'make',
  kind: 'P-256',
  made: undefined,
  brought: '',
};

/** Returns the CSR to send, once there is one. */
export function requestOf({
  way,
  made,
  brought,
}: KeyChoice): string | undefined {
  return way === 'make' ? made?.csr : brought;
}

/** Selects the key: generated in the browser, or the user's own with a CSR. */
export function KeyStep(props: {
  username: string;
  choice: KeyChoice;
  onChange: (choice: KeyChoice) => void;
  onBack: () => void;
  onNext: () => void;
}) {
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

/** A field for the user's own CSR, with a preview. */
function BroughtRequest(props: {
  text: string;

  /** Result of parsing the text. */
  read: RequestReading;
  onChange: (text: string) => void;
}) {
  const { text, read, onChange } = props;
  const { t } = useTranslationRef(directoryTranslationRef);

  async function handleDrop(event: DragEvent) {
    const [file] = event.dataTransfer.files;
    if (file) {
      event.preventDefault();
      onChange(await file.text());
    }
  }

  return (
    <div
      className={styles.request}
      onDrop={handleDrop}
      onDragOver={event => event.preventDefault()}
    >
      <TextAreaField
        label={t('certificates.newOne.key.paste')}
        description={t('certificates.newOne.key.pasteHint')}
        placeholder="-----BEGIN CERTIFICATE REQUEST-----"
        rows={10}
        value={text}
        onChange={onChange}
        spellCheck="false"
        autoComplete="off"
      />
      <div role="status">
        {(read.state === 'unreadable' || read.state === 'privateKey') && (
          <Alert
            status="danger"
            icon
            title={t(`certificates.newOne.key.${read.state}`)}
          />
        )}
        {read.state === 'read' && <Preview request={read.request} />}
      </div>
    </div>
  );
}

function Preview({ request }: { request: ReadRequest }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { subject, key, names, isProven } = request;
  return (
    <Facts
      facts={[
        { name: t('certificates.newOne.key.subject'), value: subject },
        { name: t('certificates.newOne.key.type'), value: key },
        ...(names.length > 0
          ? [
              {
                name: t('certificates.newOne.key.names'),
                value: names.join(', '),
              },
            ]
          : []),
        {
          name: t('certificates.newOne.key.proof'),
          value: t(
            isProven
              ? 'certificates.newOne.key.yes'
              : 'certificates.newOne.key.no',
          ),
        },
      ]}
    />
  );
}

/** Result of parsing a CSR. */
type RequestReading =
  | { state: 'empty' | 'reading' | 'unreadable' | 'privateKey' }
  | { state: 'read'; request: ReadRequest };

/** Parses a CSR while it is typed, pasted or dropped. */
function useReadRequest(text: string): RequestReading {
  const [reading, setReading] = useState<RequestReading>({ state: 'empty' });

  useEffect(() => {
    let isCurrent = true;
    const settle = (next: RequestReading) => isCurrent && setReading(next);
    if (!text.trim()) {
      settle({ state: 'empty' });
    } else if (/PRIVATE KEY-----/.test(text)) {
      settle({ state: 'privateKey' });
    } else {
      settle({ state: 'reading' });
      import('../key/readRequest')
        .then(({ readRequest }) => readRequest(text))
        .then(
          request => settle({ state: 'read', request }),
          () => settle({ state: 'unreadable' }),
        );
    }
    return () => {
      isCurrent = false;
    };
  }, [text]);

  return reading;
}
