export { EmptyState, type EmptyStateProps } from './EmptyState';
export { ErrorState, type ErrorStateProps } from './ErrorState';
export { PageSkeleton } from './PageSkeleton';
export { StaleNotice, type StaleNoticeProps } from './StaleNotice';
