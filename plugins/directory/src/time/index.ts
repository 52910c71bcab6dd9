export { DateTime, type DateTimeProps } from './DateTime';
export { formatLeft } from './formatLeft';
export { LocalTime, type LocalTimeProps } from './LocalTime';
export { offsetMinutes } from './offsetMinutes';
export { parseUtc } from './parseUtc';
export { useNow } from './useNow';
