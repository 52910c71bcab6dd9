import {
  configApiRef,
  useApi,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { useMemo } from 'react';
import { directoryTranslationRef } from '../../translation';

/** A certificate profile in words. */
export interface OfferedProfile {
  /** As the API knows it; `undefined` is the gateway's default. */
  name: string | undefined;
  title: string;

  /** What it is for, and how long it holds. */
  description: string | undefined;
}

/** The profiles of `directory.pages.certificateProfiles`, else the default. */
export function useProfiles(): readonly OfferedProfile[] {
  const { t } = useTranslationRef(directoryTranslationRef);
  const config = useApi(configApiRef);
  return useMemo(
    () =>
      config
        .getOptionalConfigArray('directory.pages.certificateProfiles')
        ?.map(profile => ({
          name: profile.getString('name'),
          title:
            profile.getOptionalString('title') ?? profile.getString('name'),
          description: profile.getOptionalString('description'),
        })) ?? [
        {
          name: undefined,
          title: t('certificates.newOne.profile.default'),
          description: t('certificates.newOne.profile.defaultHint'),
        },
      ],
    [config, t],
  );
}
