import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert, TextAreaField } from '@backstage/ui';
import type { DragEvent } from 'react';
import { directoryTranslationRef } from '../../translation';
import { Facts } from '../Facts';
import type { ReadRequest } from '../key/readRequest';
import styles from './BroughtRequest.module.css';
import type { RequestReading } from './useReadRequest';

/** Options of {@link BroughtRequest}. */
export interface BroughtRequestProps {
  text: string;

  /** What the text turned out to be. */
  read: RequestReading;
  onChange: (text: string) => void;
}

/** A field for a request that was made elsewhere, and what it says. */
export function BroughtRequest({ text, read, onChange }: BroughtRequestProps) {
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
