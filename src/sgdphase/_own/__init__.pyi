from .commands import UserCommand as UserCommand
from .commands import command as command
from .problem import UserProblem as UserProblem
from .problem import forget as forget
from .problem import user_file as user_file
from .problem import user_functions as user_functions
from .user import UserTraining as UserTraining
from .user import user_training as user_training
