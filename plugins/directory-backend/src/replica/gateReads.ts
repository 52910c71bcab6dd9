import type { Directory, DirectoryContext } from '../directory/Directory';
import type { UserStream } from '../directory/UserStream';
import type { ReplicaGate } from './ReplicaState';

/** Lets a directory be read while the gate is open. Streams end when it closes. */
export function gateReads(directory: Directory, gate: ReplicaGate): Directory {
  const gated =
    <Query, Result>(
      read: (query: Query, context: DirectoryContext) => Promise<Result>,
    ) =>
    async (query: Query, context: DirectoryContext): Promise<Result> => {
      if (!gate.isOpen) {
        await gate.enter(context.signal);
      }
      return read(query, context);
    };
  const guarded = ({ total, portions }: UserStream): UserStream => ({
    total,
    portions: guardPortions(portions, gate),
  });
  return {
    getUser: gated(directory.getUser),
    listUsers: gated(directory.listUsers),
    streamUsers: gated(async (query, context) =>
      guarded(await directory.streamUsers(query, context)),
    ),
    searchUsers: gated(directory.searchUsers),
    listUserGroups: gated(directory.listUserGroups),
    listUserAgreements: gated(directory.listUserAgreements),
    getGroup: gated(directory.getGroup),
    listGroups: gated(directory.listGroups),
    listGroupMembers: gated(directory.listGroupMembers),
    streamGroupMembers: gated(async (query, context) => {
      const stream = await directory.streamGroupMembers(query, context);
      return stream && guarded(stream);
    }),
    listGroupSponsors: gated(directory.listGroupSponsors),
    isMember: gated(directory.isMember),
    listUserMemberships: gated(directory.listUserMemberships),
    listSponsoredGroups: gated(directory.listSponsoredGroups),
    listMemberGroups: gated(directory.listMemberGroups),
    searchGroups: gated(directory.searchGroups),
    countGroupMembers: gated(directory.countGroupMembers),
    listColleagues: gated(directory.listColleagues),
  };
}

async function* guardPortions(
  portions: UserStream['portions'],
  gate: ReplicaGate,
): UserStream['portions'] {
  for await (const portion of portions) {
    gate.requireOpen();
    yield portion;
  }
}
