export interface Config {
  auth?: {
    providers?: {
      // Backstage's guest provider, which the sign-in page offers when it is
      // configured.
      /** @visibility frontend */
      guest?: {
        /** @visibility frontend */
        userEntityRef?: string;
        /** @visibility frontend */
        dangerouslyAllowOutsideDevelopment?: boolean;
      };
    };
  };
}
