export { Identity } from './Identity';
