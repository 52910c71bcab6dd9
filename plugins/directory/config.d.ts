export interface Config {
  directory?: {
    /** Mapping of portal users to directory users, as in the backend. */
    portalUsers?: {
      /**
       * Namespace of the user and group entities.
       * @visibility frontend
       */
      namespace: string;
      /**
       * Source of the directory name: the name of the entity or its annotation.
       * @visibility frontend
       */
      username: 'entityName' | 'annotation';
    };
    /**
     * Options of the directory pages.
     *
     * @example
     * ```yaml
     * directory:
     *   pages:
     *     editProfileUrl: https://accounts.example.org/user/{username}/settings/profile/
     *     chatServers:
     *       matrix: example.org
     *       irc: irc.libera.chat
     * ```
     */
    pages?: {
      /**
       * URL (`https:` or `http:`) of the page on which users edit their own
       * profile. `{username}` is replaced by the user name. Default: no link.
       * @visibility frontend
       */
      editProfileUrl?: string;
      chatServers?: {
        /**
         * Host name of the Matrix server for chat names that are stored without
         * a server. Default: no link.
         * @visibility frontend
         */
        matrix?: string;
        /**
         * Host name of the IRC server for such names. Default: no link.
         * @visibility frontend
         */
        irc?: string;
      };

      /**
       * Shortcut that opens the command palette: `Mod` (Cmd on Apple devices,
       * Ctrl on other devices), `Ctrl`, `Alt` or `Meta`, optionally `Shift`,
       * and a letter or digit. Default: `Mod+K`.
       * @pattern ^(?:Shift\\+)?(?:Mod|Ctrl|Alt|Meta)\\+(?:(?:Mod|Ctrl|Alt|Meta|Shift)\\+)*[A-Za-z0-9]$
       * @visibility frontend
       */
      paletteShortcut?: string;
    };
  };
}
