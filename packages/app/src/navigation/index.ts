export { navigationModule } from './navigationModule';
