import type { IssuedCertificate } from '@directory-gateway/backstage-plugin-directory-node';

/** A certificate of a user, with what a CA of the gateway knows of it. */
export type HeldCertificate =
  | IssuedCertificate
  | (Pick<IssuedCertificate, 'certificate' | 'owners'> & {
      readonly cacn?: undefined;
      readonly chain?: undefined;
      readonly revocation?: undefined;
      /** Whether no CA has it on record; `undefined`: a CA is not available. */
      readonly isForeign: true | undefined;
    });
