import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert, Button, Radio, RadioGroup, TextAreaField } from '@backstage/ui';
import { type DragEvent, useEffect, useRef, useState } from 'react';
import { useDirectoryMutation } from '../../api/useDirectoryQuery';
import { directoryTranslationRef } from '../../translation';
import { Facts } from '../Facts';
import type { GeneratedCsr, KeyType } from '../key/generateCsr';
import type { ParsedCsr } from '../key/parseCsr';
import styles from './KeyStep.module.css';
import { Choices, StepFrame } from './Stepper';

/** Input of the step, kept when the user moves between steps. */
interface KeyChoice {
  /** Whether the key is generated in the browser. */
  source: 'browser' | 'own';
  type: KeyType;

  /** Last generated key, possibly of another type; initially `undefined`. */
  generated: GeneratedCsr | undefined;
  csr: string;
}

/**
 * Input kept for the session of the tab until a certificate is issued: the label
 * and the last valid CSR. Text that is not a CSR is not kept: it could be a
 * private key. `key` is the storage key: a request and each renewal have their
 * own.
 */
export const draft = {
  /** Returns an empty string if there is none. */
  get: (key: string) => withStorage(storage => storage.getItem(key)) ?? '',
  set: (key: string, text: string) =>
    withStorage(storage => storage.setItem(key, text)),
  remove: (key: string) => withStorage(storage => storage.removeItem(key)),
};

/** Accesses the session storage, if the browser allows it. */
function withStorage<T>(action: (storage: Storage) => T): T | undefined {
  try {
    return action(window.sessionStorage);
  } catch {
    return undefined;
  }
}

/** Returns the input with the CSR that the user entered last, if any. */
export function initialKeyChoice(draftKey: string): KeyChoice {
  const csr = draft.get(draftKey);
  return {
    source: csr ? 'own' : 'browser',
    type: 'P-256',
    generated: undefined,
    csr,
  };
}

/** Returns the CSR to send; empty if there is none yet. */
export function csrOf({ source, generated, csr }: KeyChoice): string {
  return source === 'browser' ? (generated?.csr ?? '') : csr;
}

/**
 * Step that selects the key: generated in the browser, or the user's own key by
 * its CSR.
 */
export function KeyStep(props: {
  username: string;

  /** Storage key of the CSR: see {@link draft}. */
  draftKey: string;
  choice: KeyChoice;
  onChange: (choice: KeyChoice) => void;
  onBack: () => void;
  onNext: () => void;
}) {
  const { username, draftKey, choice, onChange, onBack, onNext } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const generation = useDirectoryMutation(async (_, type: KeyType) => {
    const [{ generateCsr }] = await Promise.all([
      import('../key/generateCsr'),
      // Offers the key on other pages: it must load before a request is sent.
      import('../key/UnsavedKeysBar'),
    ]);
    return await generateCsr({ username, type });
  });
  const parsed = useParsedCsr(choice.csr, draftKey);
  const [isTooLarge, setTooLarge] = useState(false);
  // The user may change the choice while a key is generated.
  const latest = useRef(choice);
  latest.current = choice;
  const canGenerate = window.isSecureContext;
  const isReady =
    choice.source === 'browser'
      ? canGenerate
      : parsed.state === 'parsed' && !isTooLarge;

  function handleNext() {
    if (generation.isPending) {
      return;
    }
    if (choice.source === 'browser' && choice.generated?.type !== choice.type) {
      generation.mutate(choice.type, {
        onSuccess: generated => {
          const { source, type } = latest.current;
          if (source === 'browser' && type === generated.type) {
            onChange({ ...latest.current, generated });
            onNext();
          }
        },
      });
    } else {
      onNext();
    }
  }

  return (
    <StepFrame
      title={t('request.key.title')}
      actions={
        <>
          <Button
            variant="secondary"
            onPress={onBack}
            isDisabled={generation.isPending}
          >
            {t('request.back')}
          </Button>
          <Button onPress={handleNext} isDisabled={!isReady}>
            {t(
              generation.isPending ? 'request.key.generating' : 'request.next',
            )}
          </Button>
        </>
      }
    >
      <Choices
        label={t('request.key.title')}
        choices={[
          {
            name: 'browser',
            title: t('request.key.generate'),
            description: t('request.key.generateHint', { username }),
          },
          {
            name: 'own',
            title: t('request.key.own'),
            description: t('request.key.ownHint'),
          },
        ]}
        chosen={choice.source}
        onChoose={source => onChange({ ...choice, source })}
      />
      {choice.source === 'browser' &&
        (canGenerate ? (
          <RadioGroup
            label={t('request.key.type')}
            value={choice.type}
            onChange={type => onChange({ ...choice, type: type as KeyType })}
          >
            <Radio value="P-256">{t('request.key.p256')}</Radio>
            <Radio value="RSA-3072">{t('request.key.rsa3072')}</Radio>
          </RadioGroup>
        ) : (
          <Alert status="warning" icon title={t('request.key.insecure')} />
        ))}
      {choice.source === 'own' && (
        <UploadedCsr
          text={choice.csr}
          parsed={parsed}
          isTooLarge={isTooLarge}
          onTooLarge={setTooLarge}
          onChange={csr => onChange({ ...choice, csr })}
        />
      )}
      {generation.isError && (
        <Alert
          role="alert"
          status="danger"
          icon
          title={t('request.key.failed')}
        />
      )}
    </StepFrame>
  );
}

/** Maximum size of a request that the API accepts, in bytes. */
const MAX_CSR_BYTES = 64 * 1024;

/**
 * Decodes the text of a file by its byte order mark, as programs for Windows
 * write UTF-16. Defaults to UTF-8.
 */
function decodeText(content: ArrayBuffer): string {
  const [first, second] = new Uint8Array(content);
  const mark = (first << 8) | second;
  const encodings: Record<number, string> = {
    0xfffe: 'utf-16le',
    0xfeff: 'utf-16be',
  };
  return new TextDecoder(encodings[mark]).decode(content);
}

/** Field for the user's own CSR, with a preview. */
function UploadedCsr(props: {
  text: string;
  parsed: CsrState;

  /** Whether a file was dropped that is too large to be a CSR. */
  isTooLarge: boolean;
  onTooLarge: (isTooLarge: boolean) => void;
  onChange: (text: string) => void;
}) {
  const { text, parsed, isTooLarge, onTooLarge, onChange } = props;
  const { t } = useTranslationRef(directoryTranslationRef);

  async function handleDrop(event: DragEvent) {
    const [file] = event.dataTransfer.files;
    if (file) {
      event.preventDefault();
      onTooLarge(file.size > MAX_CSR_BYTES);
      if (file.size <= MAX_CSR_BYTES) {
        onChange(decodeText(await file.arrayBuffer()));
      }
    }
  }

  const problem = isTooLarge ? 'tooLarge' : problemOf(parsed);

  return (
    <div
      className={styles.csr}
      onDrop={handleDrop}
      onDragOver={event => event.preventDefault()}
    >
      <TextAreaField
        label={t('request.key.csr')}
        description={t(`request.key.${problem ?? 'csrHint'}`)}
        isInvalid={problem !== undefined}
        placeholder="-----BEGIN CERTIFICATE REQUEST-----"
        rows={10}
        value={text}
        onChange={next => {
          onTooLarge(false);
          onChange(next);
        }}
        spellCheck="false"
        autoComplete="off"
      />
      <div role="status">
        {!isTooLarge && parsed.state === 'parsed' && (
          <Preview csr={parsed.csr} />
        )}
      </div>
    </div>
  );
}

function Preview({ csr }: { csr: ParsedCsr }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { subject, key, names, isProven } = csr;
  return (
    <Facts
      facts={[
        { name: t('certificate.subject'), value: subject },
        { name: t('certificate.key'), value: key },
        names.length > 0
          ? { name: t('certificate.names'), value: names.join(', ') }
          : undefined,
        {
          name: t('request.key.proof'),
          value: t(isProven ? 'request.key.proven' : 'request.key.unproven'),
        },
      ]}
    />
  );
}

/** Why a text cannot be used: `unread` when the parser cannot be loaded. */
type CsrProblem = 'invalid' | 'privateKey' | 'unread';

type CsrState =
  | { state: 'empty' | 'parsing' | CsrProblem }
  | { state: 'parsed'; csr: ParsedCsr };

function problemOf({ state }: CsrState): CsrProblem | undefined {
  return state === 'empty' || state === 'parsing' || state === 'parsed'
    ? undefined
    : state;
}

/** Parses a CSR as it is typed, pasted or dropped, and keeps it. */
function useParsedCsr(text: string, draftKey: string): CsrState {
  const [parsed, setParsed] = useState<CsrState>({ state: 'empty' });

  useEffect(() => {
    let isCurrent = true;
    const settle = (next: CsrState) => {
      if (isCurrent) {
        setParsed(next);
        if (next.state === 'parsed') {
          draft.set(draftKey, text);
        }
      }
    };
    if (!text.trim()) {
      settle({ state: 'empty' });
      draft.remove(draftKey);
    } else if (/PRIVATE KEY-----/.test(text)) {
      settle({ state: 'privateKey' });
    } else {
      settle({ state: 'parsing' });
      import('../key/parseCsr').then(
        ({ parseCsr }) =>
          parseCsr(text).then(
            csr => settle({ state: 'parsed', csr }),
            () => settle({ state: 'invalid' }),
          ),
        () => settle({ state: 'unread' }),
      );
    }
    return () => {
      isCurrent = false;
    };
  }, [text, draftKey]);

  return parsed;
}
