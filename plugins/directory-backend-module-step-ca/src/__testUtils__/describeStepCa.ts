/* eslint-disable jest/no-export -- shared by the fake and the real step-ca */
import {
  createSigningRequest,
  describeCertificateAuthority,
  RecordingLogger,
} from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { StepCaAuthority } from '../StepCaAuthority';
import { configOf, profile, user } from './settings';
import type { StepCaFiles } from './StepCaFiles';

/** Runs the conformance suite with a step-ca. */
export function describeStepCa(options: {
  readonly name: string;
  start(): Promise<{
    readonly files: StepCaFiles;
    readonly url: string;
    pause(): Promise<void>;
    resume(): Promise<void>;
    stop(): Promise<void>;
  }>;
}): void {
  describeCertificateAuthority({
    name: options.name,
    async create() {
      const stepCa = await options.start();
      const bob = { username: 'bob', profile, principal: 'bob@EXAMPLE.TEST' };
      const noNames = {
        emails: [],
        userPrincipalNames: [],
        kerberosPrincipalNames: [],
      };
      return {
        authority: new StepCaAuthority({
          config: configOf(stepCa.files, stepCa.url),
          logger: new RecordingLogger(),
        }),
        user,
        profile,
        cacn: 'step-ca',
        hasRecords: false,
        refused: [
          {
            why: 'a CSR of another user',
            change: { csr: createSigningRequest(bob).csr },
          },
          { why: 'an invalid CSR', change: { csr: Buffer.from('not a CSR') } },
          {
            why: 'a user principal name of another realm',
            change: {
              alternativeNames: {
                ...noNames,
                userPrincipalNames: ['alice@OTHER.TEST'],
              },
            },
          },
          {
            why: 'an e-mail address of another domain',
            change: {
              alternativeNames: { ...noNames, emails: ['alice@other.test'] },
            },
          },
          {
            why: 'a Kerberos principal name',
            change: {
              alternativeNames: {
                ...noNames,
                kerberosPrincipalNames: ['alice@EXAMPLE.TEST'],
              },
            },
          },
        ],
        async interrupt() {
          await stepCa.pause();
          return () => stepCa.resume();
        },
        stop: () => stepCa.stop(),
      };
    },
  });
}
