import { kerberosSignInTranslationRef } from '@directory-gateway/backstage-plugin-app-module-kerberos-sign-in';
import { directoryTranslationRef } from '@directory-gateway/backstage-plugin-directory';
import { portalTranslationRef } from './translation';

type Messages = Record<string, string>;

/** Members of a translation ref that Backstage uses but does not declare. */
interface InternalRef {
  getDefaultMessages(): Messages;
  getDefaultResource(): {
    resources: {
      language: string;
      loader(): Promise<{ messages: Messages }>;
    }[];
  };
}

/** Returns the distinct placeholders of each message. */
function placeholders(messages: Messages): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(messages).map(([key, text]) => [
      key,
      [...new Set<string>(text.match(/\{\{.*?\}\}/g))].sort(),
    ]),
  );
}

describe('German translation', () => {
  it.each([
    directoryTranslationRef,
    kerberosSignInTranslationRef,
    portalTranslationRef,
  ])('has the same messages and placeholders as $id', async ref => {
    const internalRef = ref as unknown as InternalRef;
    const [german] = internalRef.getDefaultResource().resources;

    expect(german.language).toBe('de');
    expect(placeholders((await german.loader()).messages)).toEqual(
      placeholders(internalRef.getDefaultMessages()),
    );
  });
});
