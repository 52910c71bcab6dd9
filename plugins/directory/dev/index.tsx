import { createDevApp } from '@backstage/frontend-dev-utils';
import directoryPlugin from '../src/index';

createDevApp({ features: [directoryPlugin] });
