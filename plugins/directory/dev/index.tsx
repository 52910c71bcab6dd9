import { createDevApp } from '@backstage/frontend-dev-utils';
import directoryPlugin from '../src';

createDevApp({ features: [directoryPlugin] });
