export { PageTurner, type PageTurnerProps } from './PageTurner';
