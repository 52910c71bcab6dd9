export interface Config {
  directory?: {
    /**
     * Which catalog users are which directory users, as the server is told. The
     * pages link the catalog's users and groups to the directory's by it:
     * without it, by the annotations `directory-gateway/username` and
     * `directory-gateway/groupname` in the namespace `default`.
     */
    portalUsers?: {
      /**
       * The namespace of the entities.
       *
       * @visibility frontend
       */
      namespace: string;
      /**
       * Whether entities have the directory's names, or annotations say them.
       *
       * @visibility frontend
       */
      username: 'entityName' | 'annotation';
    };
    /** What the directory's pages offer beside the directory itself. */
    pages?: {
      /**
       * Where people edit their own profile: an `https:` or `http:` URL in which
       * `{username}` stands for the user name. Without it the pages offer no
       * link to edit.
       *
       * @example https://accounts.example.org/user/{username}/settings/profile/
       * @visibility frontend
       */
      editProfileUrl?: string;
    };
  };
}
