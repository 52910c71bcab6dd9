import {
  createFrontendModule,
  NotFoundErrorPage,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { SwappableComponentBlueprint } from '@backstage/plugin-app-react';
import { ButtonLink, Container, Flex, Text } from '@backstage/ui';
import { usePageTitle } from './pageTitle';
import { portalTranslationRef } from './translation';

function NotFoundPage() {
  const { t } = useTranslationRef(portalTranslationRef);
  usePageTitle(t('notFound.title'));
  return (
    <main>
      <Container py="12">
        <Flex direction="column" align="start">
          <Text as="h1" variant="title-medium" weight="bold">
            {t('notFound.title')}
          </Text>
          <Text as="p">{t('notFound.description')}</Text>
          <ButtonLink href="/">{t('notFound.home')}</ButtonLink>
        </Flex>
      </Container>
    </main>
  );
}

/** Replaces the app's default page for paths that do not exist. */
export const notFoundModule = createFrontendModule({
  pluginId: 'app',
  extensions: [
    SwappableComponentBlueprint.make({
      name: 'core-not-found-error-page',
      params: define =>
        define({ component: NotFoundErrorPage, loader: () => NotFoundPage }),
    }),
  ],
});
