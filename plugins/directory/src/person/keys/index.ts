export { KeysTab } from './KeysTab';
