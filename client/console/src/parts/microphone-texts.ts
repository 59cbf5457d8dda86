/** Why there is no microphone, and what to set for one. */
export const microphoneTexts = {
  typeOnly: 'Type instead',
  still: 'You can talk by typing: the agent answers aloud all the same.',
  missing: {
    insecure:
      'The browser gives a microphone to secure pages only, and this one came over plain HTTP from another machine. ' +
      'Set `TLS_CERT` and `TLS_KEY`, put a proxy with HTTPS before the gateway, or open the page through a tunnel: ' +
      '`ssh -L 8080:localhost:8080` to the gateway’s machine, then http://localhost:8080/console.',
    none: 'No microphone was found. Connect one, and see that the system’s sound settings show it.',
    refused:
      'The browser does not let this page use the microphone. Allow it in the settings beside the address, then try again.',
    inUse: 'Another program holds the microphone. Close it, then try again.',
  },
} as const;
