internal import Glibc

exit(Shell.run(commandLine()))
