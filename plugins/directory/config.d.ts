export interface Config {
  directory?: {
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
