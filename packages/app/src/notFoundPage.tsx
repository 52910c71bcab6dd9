import {
  createFrontendModule,
  NotFoundErrorPage,
} from '@backstage/frontend-plugin-api';
import { SwappableComponentBlueprint } from '@backstage/plugin-app-react';
import { ButtonLink, Container, Flex, Text } from '@backstage/ui';
import { usePageTitle } from './pageTitle';

function NotFoundPage() {
  usePageTitle('Page not found');
  return (
    <main>
      <Container py="12">
        <Flex direction="column" align="start">
          <Text as="h1" variant="title-medium" weight="bold">
            Page not found
          </Text>
          <Text as="p">This portal has no page at this address.</Text>
          <ButtonLink href="/">Go to the home page</ButtonLink>
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
