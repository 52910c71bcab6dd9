import {
  configApiRef,
  useApi,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { ButtonLink, Card, Switch, Text } from '@backstage/ui';
import type { User } from '@directory-gateway/backstage-plugin-directory-common';
import { RiEditLine } from '@remixicon/react';
import { safeHref } from '../components/safeHref';
import { directoryTranslationRef } from '../translation';
import styles from './OwnProfile.module.css';

/** Options of {@link OwnProfile}. */
export interface OwnProfileProps {
  person: User;

  /** Whether the profile is shown as others see it. */
  asOthers: boolean;
  onAsOthers: (asOthers: boolean) => void;
}

/** For the owner alone: how others see the profile, and where it is edited. */
export function OwnProfile(props: OwnProfileProps) {
  const { person, asOthers, onAsOthers } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const template = useApi(configApiRef).getOptionalString(
    'directory.pages.editProfileUrl',
  );
  const editUrl =
    template &&
    safeHref(
      template.replaceAll('{username}', encodeURIComponent(person.username)),
    );

  return (
    <Card className={styles.card}>
      <Text as="h3" variant="body-medium" weight="bold">
        {t('person.own.title')}
      </Text>
      <Switch
        label={t('person.own.othersSee')}
        isSelected={asOthers}
        onChange={onAsOthers}
      />
      <p role="status" className={styles.note}>
        {asOthers &&
          t(person.is_private ? 'person.own.hidden' : 'person.own.allPublic')}
      </p>
      {editUrl && (
        <ButtonLink
          href={editUrl}
          target="_blank"
          rel="noopener noreferrer"
          variant="secondary"
          iconStart={<RiEditLine />}
        >
          {t('person.own.edit')}
        </ButtonLink>
      )}
    </Card>
  );
}
