import type { Directory } from '../directory/Directory';
import { DirectoryUnavailableError } from '../directory/errors';
import type { Replica } from './Replica';

/** A method of the port. */
type Method<Name extends keyof Directory> = Directory[Name];

/** Reads the replica while it may be read. */
export class ReplicaDirectory implements Directory {
  readonly #copied: Directory;
  readonly #replica: Pick<Replica, 'isServing' | 'status'>;

  constructor(options: {
    readonly copied: Directory;
    readonly replica: Pick<Replica, 'isServing' | 'status'>;
  }) {
    this.#copied = options.copied;
    this.#replica = options.replica;
  }

  getUser: Method<'getUser'> = async (query, context) =>
    this.#now().getUser(query, context);

  listUsers: Method<'listUsers'> = async (query, context) =>
    this.#now().listUsers(query, context);

  streamUsers: Method<'streamUsers'> = async (query, context) =>
    this.#now().streamUsers(query, context);

  searchUsers: Method<'searchUsers'> = async (query, context) =>
    this.#now().searchUsers(query, context);

  listUserGroups: Method<'listUserGroups'> = async (query, context) =>
    this.#now().listUserGroups(query, context);

  listUserAgreements: Method<'listUserAgreements'> = async (query, context) =>
    this.#now().listUserAgreements(query, context);

  getGroup: Method<'getGroup'> = async (query, context) =>
    this.#now().getGroup(query, context);

  listGroups: Method<'listGroups'> = async (query, context) =>
    this.#now().listGroups(query, context);

  listGroupMembers: Method<'listGroupMembers'> = async (query, context) =>
    this.#now().listGroupMembers(query, context);

  streamGroupMembers: Method<'streamGroupMembers'> = async (query, context) =>
    this.#now().streamGroupMembers(query, context);

  listGroupSponsors: Method<'listGroupSponsors'> = async (query, context) =>
    this.#now().listGroupSponsors(query, context);

  isMember: Method<'isMember'> = async (query, context) =>
    this.#now().isMember(query, context);

  listUserMemberships: Method<'listUserMemberships'> = async (query, context) =>
    this.#now().listUserMemberships(query, context);

  listSponsoredGroups: Method<'listSponsoredGroups'> = async (query, context) =>
    this.#now().listSponsoredGroups(query, context);

  listMemberGroups: Method<'listMemberGroups'> = async (query, context) =>
    this.#now().listMemberGroups(query, context);

  searchGroups: Method<'searchGroups'> = async (query, context) =>
    this.#now().searchGroups(query, context);

  countGroupMembers: Method<'countGroupMembers'> = async (query, context) =>
    this.#now().countGroupMembers(query, context);

  listColleagues: Method<'listColleagues'> = async (query, context) =>
    this.#now().listColleagues(query, context);

  #now(): Directory {
    if (this.#replica.isServing) {
      return this.#copied;
    }
    const { status } = this.#replica;
    if (status.kind === 'suspended') {
      const { reason, message } = status;
      throw new DirectoryUnavailableError(message, {
        reason: reason === 'credentials' ? 'refused' : reason,
      });
    }
    throw status.kind === 'starting'
      ? new DirectoryUnavailableError('The first sync has not finished', {
          reason: 'starting',
        })
      : new DirectoryUnavailableError('The replica is too old', {
          reason: 'stale',
        });
  }
}
