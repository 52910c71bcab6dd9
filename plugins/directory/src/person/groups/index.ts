export { GroupsTab } from './GroupsTab';
export { useMemberships } from './useMemberships';
