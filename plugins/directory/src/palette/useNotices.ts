import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { directoryTranslationRef } from '../translation';
import type { PaletteInput } from './readInput';
import { canDigest, type Section } from './useSections';

/** Returns the notices above the results: hints, failures and pasted data. */
export function useNotices(options: {
  input: PaletteInput;
  sections: readonly Section[];

  /** Whether a private key was removed from the field. */
  isRefused: boolean;

  /** Whether the user is still typing. */
  isTyping: boolean;
}): readonly string[] {
  const { input, sections, isRefused, isTyping } = options;
  const { t } = useTranslationRef(directoryTranslationRef);
  const pasted = usePasted(input);
  const isPending = isTyping || sections.some(section => section.isPending);
  const failed = sections.filter(section => section.hasFailed);
  const failures = failed.map(({ id }) => t(`palette.failed.${id}`));
  const isEmpty =
    !isPending &&
    failed.length === 0 &&
    sections.every(({ results }) => results.length === 0);

  switch (input.kind) {
    case 'empty':
      return [isRefused ? t('palette.secret') : t('palette.hint')];
    case 'secret':
    case 'pgpBlock':
    case 'long':
      return [t(`palette.${input.kind}`)];
    case 'certificate': {
      const unknown = isEmpty ? [t('palette.unknownCertificate')] : [];
      return pasted?.kind === 'certificate'
        ? [t('palette.certificate', pasted.names), ...unknown, ...failures]
        : unreadable();
    }
    case 'csr':
      return pasted?.kind === 'csr'
        ? [
            t('palette.csr', pasted.csr),
            ...(pasted.csr.names.length > 0
              ? [
                  t('palette.csrNames', {
                    names: pasted.csr.names.join(', '),
                  }),
                ]
              : []),
          ]
        : unreadable();
    case 'sshKey':
      if (!canDigest()) {
        return [t('palette.needsHttps')];
      }
      return isEmpty ? [t('palette.noOwner')] : failures;
    case 'sshFingerprint':
      return isEmpty ? [t('palette.noOwner')] : failures;
    case 'fingerprint':
      return isEmpty ? [t('palette.noFingerprint')] : failures;
    default:
      return isEmpty ? [t('palette.none')] : failures;
  }

  function unreadable() {
    return pasted ? [t('palette.unreadable')] : [];
  }
}

/** Parses a pasted certificate or CSR in the browser. */
function usePasted(input: PaletteInput) {
  const pem = 'pem' in input ? input.pem : undefined;
  const { data } = useDirectoryQuery({
    key: ['palette', 'pasted', pem],
    enabled: pem !== undefined,
    load: async () => {
      try {
        return await parsePasted(input.kind, pem ?? '');
      } catch {
        return { kind: 'unreadable' as const };
      }
    },
  });
  return data;
}

async function parsePasted(kind: PaletteInput['kind'], pem: string) {
  if (kind === 'csr') {
    const { parseCsr } = await import('../certificates/key/parseCsr');
    return { kind: 'csr' as const, csr: await parseCsr(pem) };
  }
  const { parseCertificate } =
    await import('../certificates/details/parseCertificate');
  const { subject, issuer, serial } = parseCertificate(pem);
  return {
    kind: 'certificate' as const,
    names: { subject, issuer, serial: String(serial) },
  };
}
