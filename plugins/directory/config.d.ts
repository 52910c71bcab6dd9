export interface Config {
  directory?: {
    /**
     * Mapping between catalog users and directory users, the same as in the
     * backend. The pages link catalog entities and directory entries by it.
     * Default: the annotations `directory-gateway/username` and
     * `directory-gateway/groupname` in the namespace `default`.
     */
    portalUsers?: {
      /**
       * Namespace of the entities.
       *
       * @visibility frontend
       */
      namespace: string;
      /**
       * Whether entities have the names of the directory, or annotations with
       * these names.
       *
       * @visibility frontend
       */
      username: 'entityName' | 'annotation';
    };
    /** Options of the directory pages. */
    pages?: {
      /**
       * Page on which users edit their own profile: an `https:` or `http:` URL
       * in which `{username}` is replaced by the user name. Default: no link.
       *
       * @example https://accounts.example.org/user/{username}/settings/profile/
       * @visibility frontend
       */
      editProfileUrl?: string;
    };
  };
}
