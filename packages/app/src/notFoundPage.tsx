import {
  createFrontendModule,
  NotFoundErrorPage,
  PageLayout,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { SwappableComponentBlueprint } from '@backstage/plugin-app-react';
import { ButtonLink, Container, Flex, Text } from '@backstage/ui';
import { usePageTitle } from './pageTitle';
import { portalTranslationRef } from './translation';

function NotFoundPage() {
  const { t } = useTranslationRef(portalTranslationRef);
  usePageTitle(t('notFound.title'));
  // Loads the layout: if the next page were the first one with a layout,
  // React would hide the whole portal, and repeat its rendering for half a
  // second.
  return (
    <PageLayout noHeader>
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
    </PageLayout>
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
